#!/bin/bash
# What of a training and of predictions crosses a cluster of Citus: the lines of test/run/citus that say so, where a server with Citus
# is at hand (CITUS=folder names one); elsewhere it says that there is none.
cd "$(dirname "$0")/../.."
set -o pipefail
test/run/citus | grep -E 'bytes|prediction|skipped|FAILED|passed'
