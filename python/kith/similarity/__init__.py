"""Which programs are alike (thesis 3.4, similarity study): features of recordings (features.py), principal components and
clusters of them (study.py), and pictures (pictures.py)."""

from kith.similarity.features import FEATURES, features_of
from kith.similarity.study import Study, sensitivity, study

__all__ = ["FEATURES", "Study", "features_of", "sensitivity", "study"]
