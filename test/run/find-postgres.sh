# Sourced by bash scripts: which PostgreSQL is meant.

# The pg_config of the server that PG_CONFIG names, or else of the newest supported one with development files; nothing if
# there is none.
find_pg_config() {
    local candidate
    for candidate in ${PG_CONFIG:-$(ls -d /usr/lib/postgresql/1[4-9]/bin/pg_config 2>/dev/null | sort -rV) \
        "$(command -v pg_config || true)"}; do
        # Debian's client package has PGXS too; the headers come with the development files only.
        if [ -x "$candidate" ] && [ -e "$("$candidate" --pgxs)" ] && [ -e "$("$candidate" --includedir-server)/postgres.h" ] &&
            [ -x "$("$candidate" --bindir)/postgres" ]; then
            echo "$candidate"
            return
        fi
    done
}
