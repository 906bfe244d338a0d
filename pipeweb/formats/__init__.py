"""How dates are written where no format is named, such as in the admin (`FORMAT_MODULE_PATH`)."""
