# Sourced behind node.sh by what starts the shop. PROGRAM is the bundle of bundle.ts while the sources are those that it was
# made of: it was made in this folder, and no source or folder of sources was written, replaced or moved since, whatever its
# time says. Then a start takes 100 ms less (2026-11). Otherwise it is the source, and the bundle is made beside it for the next
# start.
BUNDLE=node_modules/.cache/program
MADE_IN=
{ read -r MADE_IN <"$BUNDLE/made-in"; } 2>/dev/null || :
if [ "$MADE_IN" = "$PWD" ] &&
  CHANGED="$(find src tools package.json package-lock.json -cnewer "$BUNDLE/made-in" -print -quit)" && [ -z "$CHANGED" ]; then
  PROGRAM="$BUNDLE/main.mjs"
else
  PROGRAM=src/main.ts
  nice node tools/bundle.ts "$PWD" >/dev/null 2>&1 &
fi
# Blocks from 16 kB have pages of their own, which return to the system when they are freed. Otherwise the C library (glibc) keeps
# what responses with long lists once took: 14 MB under load (docs/decisions/0136).
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-16384}"
