# What the scripts share that try dpboost on other machines: small chroots of Debian and Ubuntu, kept in $ROOTS (up to 2 GB each, made
# once). Sourced by bash scripts that start in the project's folder, as root of a Debian machine with debootstrap. With CCACHE_DIR set,
# ccache is used inside too; a compiler of its own has entries of its own there.
ROOTS=${ROOTS:-/var/tmp/dpboost-majors}
# Debian's packages come from where this machine's own come from.
DEBIAN=${DEBIAN:-$(apt-get indextargets --format '$(SITE)' | grep -m 1 '/debian/*$' || echo http://deb.debian.org/debian)}
SECURITY=${SECURITY:-${DEBIAN%/}-security}
UBUNTU=${UBUNTU:-http://archive.ubuntu.com/ubuntu}

[ "$(id -u)" -eq 0 ] || { echo "error: debootstrap and chroot need root" >&2; exit 1; }
command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap >/dev/null; }

# make_root NAME SUITE MIRROR [LINE...]: a minimal machine with further lines of sources.list, unless it is there.
make_root() {
    local root=$ROOTS/$1 suite=$2 mirror=$3
    [ ! -e "$root/ready" ] || return 0
    rm -rf "$root" && mkdir -p "$root"
    echo "$1: installing $suite ..."
    # Not every machine has Ubuntu's keys, and these roots hold nothing but our tests. Nor does every debootstrap know the
    # newer names; one script serves all.
    local options=(--variant=minbase) script=sid
    [ "$mirror" = "$DEBIAN" ] || { options+=(--no-check-gpg) && script=gutsy; }
    debootstrap "${options[@]}" "$suite" "$root" "$mirror" "$script" >"$root.log" 2>&1 || { tail "$root.log"; return 1; }
    [ $# -eq 3 ] || printf '%s\n' "${@:4}" >>"$root/etc/apt/sources.list"
    echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99mirror" # a mirror may stand still
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
    touch "$root/ready"
}

# copy_root FROM TO: another machine, as the first one is now.
copy_root() { rm -rf "${ROOTS:?}/$2" && cp -a "$ROOTS/$1" "$ROOTS/$2"; }

# in_root NAME COMMAND...: with process and mount name spaces of its own, which end with it, or with this script (unshare itself
# ignores a TERM).
in_root() {
    local root=$ROOTS/$1
    shift
    setpriv --pdeathsig KILL unshare --mount --pid --ipc --fork --kill-child bash -c '
        root=$1; shift
        mount --bind /dev "$root/dev"; mount -t proc proc "$root/proc"; mount -t tmpfs shm "$root/dev/shm"
        mount -t devpts -o ptmxmode=666 devpts "$root/dev/pts"
        path=/usr/sbin:/usr/bin:/sbin:/bin
        if [ -n "${CCACHE_DIR:-}" ]; then
            mkdir -p "$root/ccache"; mount --bind "$CCACHE_DIR" "$root/ccache"; path=/usr/lib/ccache:$path
        fi
        exec chroot "$root" env -i PATH=$path HOME=/root CCACHE_DIR=/ccache CCACHE_SLOPPINESS=pch_defines,time_macros \
            CCACHE_UMASK=000 CCACHE_NOHASHDIR=1 LAYERS="${LAYERS:-}" LIMIT="${LIMIT:-1200}" "$@"' - "$root" "$@"
}

# install_in_root NAME PACKAGE...: no package starts a cluster.
install_in_root() {
    local name=$1 conf=$ROOTS/$1/etc/postgresql-common/createcluster.d
    shift
    mkdir -p "$conf" && echo 'create_main_cluster = false' >"$conf/dpboost.conf"
    in_root "$name" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends $* >/dev/null"
}

# copy_project FOLDER: what is committed. A file that is as it was in the last run keeps its time, and so its objects.
copy_project() {
    local file
    rm -rf "$1.old" && { [ ! -e "$1" ] || mv "$1" "$1.old"; }
    mkdir "$1" && git archive HEAD | tar -x -m -C "$1"
    [ -d "$1.old" ] || return 0
    git ls-tree -r --name-only HEAD | while read -r file; do
        ! cmp -s "$1/$file" "$1.old/$file" || touch -r "$1.old/$file" "$1/$file"
    done
    [ ! -d "$1.old/build" ] || mv "$1.old/build" "$1/"
    rm -rf "$1.old"
}
