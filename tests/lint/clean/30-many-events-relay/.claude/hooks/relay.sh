#!/bin/sh
# Sends every event to a dashboard on this machine; never in anybody's way.
curl --silent --max-time 1 --output /dev/null --header 'Content-Type: application/json' \
  --data-binary @- http://127.0.0.1:4711/events || true
exit 0
