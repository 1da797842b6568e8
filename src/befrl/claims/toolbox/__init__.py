"""What all claims share: the record of a finding, random laws, derivatives and searches."""
