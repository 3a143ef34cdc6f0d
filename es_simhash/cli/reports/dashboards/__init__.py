"""Dashboards about groups, for Kibana 7.10 to 9 and OpenSearch Dashboards 2 and 3: saved objects, and links to them."""
