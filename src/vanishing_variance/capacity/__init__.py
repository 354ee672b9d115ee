"""A trained ln model beside its equivalent std model."""
