# Puts the sections of the install script together. What a table and its columns mean stands behind them as a comment, on their
# line and on the comment lines that follow it; here it becomes a COMMENT ON. Used by the Makefile.

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

/^CREATE TABLE / {
    table = $3
    object = "TABLE " table
    split_comment()
    print
    next
}
table != "" && /^ +-- / {
    if (text == "") {
        print FILENAME ": a comment that belongs to no column: " $0 >"/dev/stderr"
        exit 1
    }
    sub(/^ +-- /, "")
    text = text " " $0
    next
}
table != "" {
    finish()
    object = "COLUMN " table "." $1
    split_comment()
    print
    if ($0 ~ /\);$/) {
        printf "%s", statements
        table = statements = ""
    }
    next
}
{ print }
