# The meaning and unit of every column of every table.


rule columns:
    output:
        LAYOUT.columns(),
    log:
        LAYOUT.log("columns"),
    conda:
        ENVIRONMENT
    params:
        content=befrl_columns.digest(),
    shell:
        "python -m befrl columns --out {output:q} > {log:q} 2>&1"
