"""The notebook of examples/notebook, run in a kernel on a recording made by hand."""

import pathlib

import pytest

from made import diamond

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "notebook" / "recording.ipynb"


def outputs(notebook, kind):
    return [o.data[kind] for c in notebook.cells for o in c.get("outputs", ()) if kind in o.get("data", {})]


def test_it_makes_tables_and_figures(tmp_path, monkeypatch):
    m = diamond()
    for i, task in enumerate((1, 2)):
        m.add("access", task=task, region=m.add("region", address=i << 20, bytes=4096, home=0), mode=2, bytes=4096, touched=4096)
    monkeypatch.setenv("RECORDING", m.save(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))  # no profile of the user's
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert not outputs(notebook, "text/plain"), "store it without outputs"
    assert sum(c.cell_type == "code" for c in notebook.cells) == 10
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert not [o for c in notebook.cells for o in c.get("outputs", ()) if o.output_type in ("error", "stream")]
    assert len(outputs(notebook, "image/png")) == 4
    said = "\n".join(outputs(notebook, "text/plain"))
    assert "work, s            0.000100" in said and "parallelism        1.500000" in said  # 100 µs; over 4 * 40 / 6 + 40
    assert "instantaneous parallelism (min)" in said and "sibling_work_balance" in said
