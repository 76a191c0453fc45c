#!/bin/sh
# Every test with all of its cases, with the stores in files of SQLite and then on a server of PostgreSQL. The last line
# counts the tests of both runs. Arguments are those of vitest, such as folders.
set -eu
cd "$(dirname -- "$0")/../.."

DROPGATE_TEST_ALL=1
export DROPGATE_TEST_ALL
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
run_on() {
  DROPGATE_TEST_STORE=$1
  export DROPGATE_TEST_STORE
  shift
  sh bin/test --reporter=default --reporter=json --outputFile.json="$reports/$DROPGATE_TEST_STORE" "$@"
}

on_sqlite=0
run_on sqlite "$@" || on_sqlite=$?
on_postgres=0
run_on postgres "$@" || on_postgres=$?
node test/support/count-tests.ts "$reports/sqlite" "$on_sqlite" "$reports/postgres" "$on_postgres"
