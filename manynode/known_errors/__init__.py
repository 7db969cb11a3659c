"""What is known of the models' errors: records of validations, and the band that they give a new projection."""
