"""Reports for people: pages of HTML, dashboards, the report on groups."""
