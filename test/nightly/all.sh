#!/bin/sh
# All that takes too long for each change, one after the other, whatever has failed before; fails when one of them has.
set -u
cd "$(dirname -- "$0")/../.."
sh bin/prepare || exit 1
CI=true sh test/support/install-system-programs.sh || exit 1
failed=
run() {
  echo "== $*"
  "$@" || failed="$failed
  $*"
}
run node test/nightly/crash-rounds.ts
run node test/nightly/backlog-100000.ts
run node test/nightly/migration-deaths.ts
run node test/nightly/cluster-rounds.ts --rounds 60
run node test/nightly/postgres-restore.ts
run sh test/nightly/both-stores.sh
[ -z "$failed" ] || { echo "failed:$failed" >&2 && exit 1; }
