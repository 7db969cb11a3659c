"""Questions to the design space: a local web application on the measured timing profiles of one experiment."""
