#!/bin/sh
# Installs the programs that the tests talk to dropgate with, and the servers that dropgate delivers to, where apt-get may
# be used. Tests whose program is missing afterwards say that they are skipped and why; with CI set a missing program is
# an error. Needs no network when everything is there. Further ones are arguments, as PROGRAM:PACKAGE.
set -u

find_missing() {
  missing=
  need sftp openssh-client
  need sshd openssh-server
  need vsftpd vsftpd
  need curl curl
  need lftp lftp
  need ftp tnftp
  need sshfs sshfs
  need openssl openssl
  need php php-cli
  need python3 python3
  need script bsdutils
  need xmllint libxml2-utils
  need groff groff-base
  need systemd-analyze systemd
  need prometheus prometheus
  command -v chromium >/dev/null 2>&1 || need chromium-headless-shell chromium-headless-shell
  need haproxy haproxy
  need pg_ctlcluster postgresql
  need rsync rsync
  need bindfs bindfs
  for further in "$@"; do need "${further%%:*}" "${further#*:}"; done
}
need() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing="$missing $2"; }

# The servers are run by the tests alone: their packages must not start them on this machine.
policy=/usr/sbin/policy-rc.d
forbid_starts() { [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && ours=yes; }; }
allow_starts() { [ -z "${ours:-}" ] || rm -f "$policy"; }

find_missing "$@"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing$missing for the tests ..." >&2
  trap allow_starts EXIT INT TERM
  forbid_starts
  # shellcheck disable=SC2086
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1
fi
find_missing "$@"
if [ -n "$missing" ]; then
  echo "not installed:$missing; the tests that need them are skipped" >&2
  [ -z "${CI:-}" ] || exit 1
fi
exit 0
