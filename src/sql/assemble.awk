# Puts the sections of the install script together. What a table or a view and its columns mean stands behind them as a comment,
# on their line and on the comment lines that follow it; here it becomes a COMMENT ON. Used by the Makefile.

function finish() {
    if (text != "") {
        gsub(/'/, "''", text)
        statements = statements "COMMENT ON " object " IS '" text "';\n"
    }
    text = ""
}

# Splits off the comment of a line into text.
function split_comment() {
    if (match($0, / -- /)) {
        text = substr($0, RSTART + RLENGTH)
        $0 = substr($0, 1, RSTART - 1)
    }
}

# First come the columns; then, of a view, its query. The comments follow what they are about.
/^CREATE (TABLE|VIEW) .*\(( -- .*)?$/ {
    relation = $3
    object = $2 " " relation
    in_columns = 1
    split_comment()
    print
    next
}
in_columns && /^ +-- / {
    if (text == "") {
        print FILENAME ": a comment that belongs to no column: " $0 >"/dev/stderr"
        exit 1
    }
    sub(/^ +-- /, "")
    text = text " " $0
    next
}
in_columns {
    finish()
    column = $1
    sub(/[,)]+$/, "", column)
    object = "COLUMN " relation "." column
    split_comment()
    in_columns = !/\);$/ && !/^ +(WITH .*)?AS$/
}
{ print }
!in_columns && statements != "" && /;$/ {
    printf "%s", statements
    statements = ""
}
