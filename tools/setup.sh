#!/bin/sh
# Create .venv with exactly the packages of requirements.lock, and befrl from src/. Called by `make setup`.
# Uses uv if it is available, otherwise pip. Packages are reinstalled only if the lock's content or the folder
# has changed, or if an earlier set-up did not finish.
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
# Inside an activated .venv, "python3" is the interpreter to be replaced: use its base interpreter.
base=$("$wanted" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))')

make_venv() {
    rm -rf .venv
    if [ "$uv" ]; then
        "$uv" venv --quiet --python "$base" .venv
    else # Debian's python3 without python3-venv cannot put pip into .venv; `install` then uses the base's pip
        "$base" -m venv .venv >/dev/null 2>&1 || { rm -rf .venv && "$base" -m venv --without-pip .venv; }
    fi
}

install() {
    if [ "$uv" ]; then
        "$uv" pip install --quiet --compile-bytecode --python "$py" "$@"
    elif "$py" -m pip --version >/dev/null 2>&1; then
        PIP_USE_PEP517=1 "$py" -m pip install --quiet "$@"
    else
        PIP_USE_PEP517=1 "$base" -m pip --python "$py" install --quiet "$@"
    fi
}

# One package (connection-pool) is built from source. Its build tool comes from the lock too: without build
# isolation, nothing is downloaded without a hash.
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
        [ "$uv" ] && echo "setup: uv failed, trying pip" && uv='' && install_lock
    } || fail "installation failed; it needs uv, or Python's venv with ensurepip (python3-venv), or pip 22.3 or newer."
    echo "$key" >.venv/.packages
fi
install --no-deps --no-build-isolation -e .
echo "$here" >.venv/.ready
