# Sourced by the scripts of package.json: the Node that comes with the packages goes before the one of the machine.
# npm 11 links it into node_modules/.bin; npm 10, which came with Node 20, drops that link again.
for NODE in "$PWD"/node_modules/node-linux-*/bin; do PATH="$NODE:$PATH"; done
if [ ! -d node_modules/fastify ]; then
  echo 'The packages are not there yet: run "npm ci" first.' >&2
  return 1
fi
# Where no Node comes along, the one of the machine may be too old even to say so.
[ -d "$NODE" ] || node -e '
  const [major, minor] = process.versions.node.split(".").map(Number)
  if (major > 24 || (major === 24 && minor >= 16)) process.exit(0)
  console.error(`Cartwright needs Node 24.16 or newer, and this is ${process.version}.`)
  process.exit(1)
' || return 1
# Compiled code is kept between starts. Named here it is found before the first file is read: 40 ms less (2026-11). Not in
# /tmp, where another user of the machine could put code that would then be ours.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/compiled}"
# For a start: npm links no package, so no path has to be followed, which is a tenth of loading the program (2026-11). Young objects
# get 27 MB under load instead of up to 64. An idle process does not collect its memory, because V8 then discards its compiled
# code as well: orders in bursts took a tenth more CPU (docs/decisions/0136).
START_FLAGS='--preserve-symlinks --max-semi-space-size=16 --no-memory-reducer'
export PATH NODE_COMPILE_CACHE START_FLAGS
