"""What people look at: values in, HTML out. The web serves these pages and `assay site` writes them as files."""
