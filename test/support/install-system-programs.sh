#!/bin/sh
# Installs the programs that the end-to-end tests talk to dropgate with, where apt-get may be used.
# Tests whose program is missing afterwards say that they are skipped and why; with CI set a missing program is an error.
set -u

missing=
need() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing="$missing $2"; }
need sftp openssh-client
need sshd openssh-server
need curl curl
need lftp lftp
need openssl openssl
need xmllint libxml2-utils
need systemd-analyze systemd
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing$missing for the tests ..." >&2
  # shellcheck disable=SC2086
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1
fi
missing=
need sftp openssh-client; need sshd openssh-server; need curl curl; need lftp lftp
need openssl openssl; need xmllint libxml2-utils; need systemd-analyze systemd
if [ -n "$missing" ]; then
  echo "not installed:$missing; the tests that need them are skipped" >&2
  [ -z "${CI:-}" ] || exit 1
fi
exit 0
