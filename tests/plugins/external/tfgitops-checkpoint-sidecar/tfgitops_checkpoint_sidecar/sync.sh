#!/bin/sh
# Syncs SOURCE to DESTINATION every EVERY seconds, and once more when the training has ended.
# The sidecar is told of that end by SIGTERM; a sync that is under way is finished first.
set -u
here=$(dirname "$0")
. "$here/sync.env"
ended='' waiting=''
trap 'ended=1; [ -z "$waiting" ] || kill "$waiting" 2>/dev/null' TERM

sync_once() {
    [ -d "$SOURCE" ] || return 0 # the training has written nothing yet
    rclone --config "$here/rclone.conf" --use-json-log sync "$SOURCE" "$DESTINATION"
}

while [ -z "$ended" ]; do
    sync_once || echo "the sync failed; the next is in $EVERY seconds" >&2
    [ -z "$ended" ] || break
    sleep "$EVERY" &
    waiting=$!
    [ -n "$ended" ] || wait "$waiting"
    waiting=''
done
sync_once
