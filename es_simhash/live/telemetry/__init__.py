"""What runs show to operators: Prometheus metrics, OpenTelemetry spans, and the id by which all of it is found."""
