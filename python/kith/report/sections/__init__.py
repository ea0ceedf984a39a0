"""The sections of the report: one module for each, with values(facts), which its template shows. Sections with nothing
to say return None, and are left out."""
