# What `make demo` and `make check` share: a scratch folder that always goes away, a private copy of PostgreSQL (so that
# neither command touches an installed server or its library), and temporary clusters that are always stopped.
# Sourced by bash scripts that start in the project's folder.

set -euo pipefail
. test/run/find-postgres.sh
umask 022
export LC_ALL=C.UTF-8
unset PGHOST PGPORT PGUSER PGDATABASE PGDATA PGOPTIONS PGSERVICE PGPASSWORD MAKEFLAGS MAKELEVEL MFLAGS

BUILD=${BUILD:-build}
SCRATCH=
HEADERS=()
GROUPS_STARTED=()

say() { printf '%s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# A short path, because a socket's path may have at most 107 bytes; readable by the user who runs the server.
make_scratch() {
    SCRATCH=$(mktemp -d /tmp/dpb.XXXXXX)
    chmod 755 "$SCRATCH"
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# Stops by process id what this script started, and removes the scratch folder (kept if KEEP is set).
clean_up() {
    local status=$? group pidfile
    trap - EXIT INT TERM HUP
    for group in "${GROUPS_STARTED[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done
    find "$SCRATCH" -name postmaster.pid 2>/dev/null | while read -r pidfile; do stop_cluster "$(dirname "$pidfile")"; done
    cd /
    if [ -n "${KEEP:-}" ]; then say "kept: $SCRATCH"; else rm -rf "$SCRATCH"; fi
    exit "$status"
}

# Runs a command beside this script, in a process group of its own so that clean_up can end all of it. Sets $started.
start_beside() {
    set -m
    "$@" &
    started=$!
    set +m
    GROUPS_STARTED+=("$started")
}

# PostgreSQL refuses to run as root; then its own user runs it, from a folder that it may enter.
as_server_user() {
    (
        cd "$SCRATCH"
        if [ "$(id -u)" -eq 0 ]; then exec runuser -u postgres -- "$@"; else exec "$@"; fi
    )
}
give_to_server_user() {
    if [ "$(id -u)" -eq 0 ]; then chown -R postgres: "$@"; fi
}

# Copies PostgreSQL under the scratch folder with the same paths below it: PostgreSQL finds its files relative to its
# programs, so the copy is complete and `make install` into it is private. Sets PG_CONFIG and PGBIN.
make_private_postgres() {
    local original root directory
    original=$(find_pg_config)
    [ -n "$original" ] || die "no PostgreSQL server with development files was found"
    root=$SCRATCH/pg
    for directory in --bindir --pkglibdir --sharedir --includedir-server --pkgincludedir --includedir; do
        directory=$("$original" "$directory")
        [ -d "$directory" ] || continue
        [ -d "$root$directory" ] || { mkdir -p "$root$directory" && cp -aL "$directory/." "$root$directory/"; }
    done
    # Compiled with the headers where they are: a cache of compilations (CXX="ccache g++") then knows them again.
    HEADERS=(includedir="$("$original" --includedir)" includedir_server="$("$original" --includedir-server)"
        includedir_internal="$("$original" --pkgincludedir)/internal")
    PGBIN=$root$("$original" --bindir)
    PG_CONFIG=$PGBIN/pg_config
    export PGBIN PG_CONFIG
    # That of 14 tells the paths of the original wherever it stands; the server itself finds its files.
    if [ "$("$PG_CONFIG" --bindir)" != "$PGBIN" ]; then
        printf '#!/bin/sh\ncase $1 in --bindir | --pkglibdir | --sharedir | --*include* | --pgxs) printf %%s "%s" ;; esac\nexec "%s" "$@"\n' \
            "$root" "$original" >"$PG_CONFIG"
    fi
    [ "$("$PG_CONFIG" --bindir)" = "$PGBIN" ] || die "this PostgreSQL cannot be copied: \"$original\""
}

# A scratch folder, and in it a PostgreSQL of its own with dpboost as it is built from this tree.
install_privately() {
    make_scratch
    make_private_postgres
    build_and_install
}

# start_cluster NAME [SETTING=VALUE...]: a new cluster in the scratch folder, on a socket there and on no network.
# Exports PGHOST, PGPORT, PGUSER and PGDATABASE, so that psql and pg_regress find it.
start_cluster() {
    local data=$SCRATCH/$1 setting
    shift
    mkdir "$data" && give_to_server_user "$data"
    as_server_user "$PGBIN/initdb" -D "$data" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$data.log" 2>&1 ||
        { cat "$data.log" >&2; die "initdb failed"; }
    {
        say "listen_addresses = ''"
        say "unix_socket_directories = '$data'"
        say "fsync = off"
        for setting in "$@"; do say "$setting"; done
    } | as_server_user tee -a "$data/postgresql.conf" >/dev/null
    as_server_user "$PGBIN/pg_ctl" -D "$data" -l "$data/server.log" -w -s start ||
        { as_server_user cat "$data/server.log" >&2; die "the server did not start"; }
    export PGHOST=$data PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# Stops the server whose data folder is given, by the process id in its postmaster.pid.
stop_cluster() {
    as_server_user "$PGBIN/pg_ctl" -D "$1" -m immediate -s -w stop >/dev/null 2>&1 || true
}

# Builds the extension and installs it into the private copy, and says how far it has come.
build_and_install() {
    local log=$SCRATCH/build.log files
    files=$(build -n all | grep -c -- ' -c ' || true)
    if [ "$files" -gt 0 ]; then
        say "Building dpboost: $files files to compile ..."
        touch "$SCRATCH/build.start"
        start_beside count_compiled "$files"
    fi
    if ! { build all && build install; } >"$log" 2>&1; then
        cat "$log" >&2
        die "the build failed"
    fi
    [ "$files" -eq 0 ] || kill -TERM -- "-$started" 2>/dev/null || true
}

count_compiled() {
    while sleep 10; do say "  $(find "$BUILD" \( -name '*.o' -o -name '*.gch' \) -newer "$SCRATCH/build.start" | wc -l) of $1 compiled"; done
}

# Compiles with at most as many jobs as there are processors.
build() { make -s -j"$(nproc)" BUILD="$BUILD" WERROR="${WERROR:-}" "${HEADERS[@]}" "$@"; }
