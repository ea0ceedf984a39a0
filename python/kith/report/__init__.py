"""The report: one HTML file about a recording, which needs no network (docs/report.md).

facts.py has what several sections use, verdict.py the three sentences at the top; each other section is one module with
a function that makes the values of its template, and one template of that name. page.py puts them together.
"""

from kith.report.page import write_report

__all__ = ["write_report"]
