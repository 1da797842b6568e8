#!/bin/sh
# Make .venv hold exactly requirements.lock, and befrl from src/. `make setup` calls it.
# Uses uv when it is there, else pip. Packages are installed anew only when the lock's content or the folder
# changed, or when an earlier set-up did not come to its end.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
py=.venv/bin/python
uv=$(command -v uv || true)

fail() { echo "setup: $1" >&2; exit 2; }

wanted=${PYTHON:-python3}
command -v "$wanted" >/dev/null || fail "'$wanted' was not found; befrl needs Python 3.11 or newer (make PYTHON=...)."
"$wanted" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "'$wanted' is $("$wanted" --version 2>&1); befrl needs Python 3.11 or newer (make PYTHON=...)."
# Inside an activated .venv "python3" is the one to be replaced: go to the interpreter below it.
base=$("$wanted" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))')

make_venv() {
    rm -rf .venv
    if [ "$uv" ]; then
        "$uv" venv --quiet --python "$base" .venv
    else # Debian's python3 without python3-venv has no pip to put inside; `install` then works from outside
        "$base" -m venv .venv >/dev/null 2>&1 || { rm -rf .venv && "$base" -m venv --without-pip .venv; }
    fi
}

install() {
    if [ "$uv" ]; then
        "$uv" pip install --quiet --python "$py" "$@"
    elif "$py" -m pip --version >/dev/null 2>&1; then
        PIP_USE_PEP517=1 "$py" -m pip install --quiet "$@"
    else
        PIP_USE_PEP517=1 "$base" -m pip --python "$py" install --quiet "$@"
    fi
}

# One package comes as source (connection-pool). Its build tool is taken from the lock too: without isolation
# nothing is downloaded that has no hash.
install_lock() {
    make_venv &&
        awk '/^[^ #]/ { on = /^setuptools==/ } on' requirements.lock >.venv/setuptools.txt &&
        install --require-hashes -r .venv/setuptools.txt &&
        install --require-hashes --no-build-isolation -r requirements.lock
}

key="$here $(cksum <requirements.lock)"
if [ "$(cat .venv/.packages 2>/dev/null)" != "$key" ] || ! "$py" -c '' 2>/dev/null; then
    echo "setup: installing requirements.lock into .venv (a minute or two)"
    install_lock || {
        [ "$uv" ] && echo "setup: uv did not manage, trying pip" && uv='' && install_lock
    } || fail "no luck; it takes uv, or Python's venv with ensurepip (python3-venv), or pip 22.3 or newer."
    echo "$key" >.venv/.packages
fi
install --no-deps --no-build-isolation -e .
echo "$here" >.venv/.ready
