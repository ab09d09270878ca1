# Builds the program without anything that only development needs, in the folder $1, from a project folder with its packages
# (npm ci). The image is made of it, and a server without containers can run it, too. The folder has the bundle that `npm start`
# runs, the files that it reads, the packages that it needs at run time, and a list of them (sbom.cdx.json). It does not have
# tests, the embedded database, the payment sandbox, development packages and types.
set -eu
APP=$1
. tools/node.sh

# The bundle is made when a source is newer than the last one.
. tools/program.sh
wait
. tools/program.sh
[ "$PROGRAM" != src/main.ts ] || { echo "The bundle could not be made: node tools/bundle.ts '$PWD' says why." >&2; exit 1; }

mkdir -p "$APP/node_modules/.cache"
node tools/runtime-packages.ts |
  tar -cf - --exclude='*.d.ts' --exclude='*.d.mts' --exclude='*.d.cts' --exclude='*.map' -T - | tar -xf - -C "$APP"
cp -R "$(dirname "$PROGRAM")/." "$APP/node_modules/.cache/program"
tar -cf - --exclude='*.test.ts' --exclude=fixtures --exclude=src/payment-sandbox --exclude=docs/decisions \
  LICENSE config.example.yaml demo docs package.json src | tar -xf - -C "$APP"
cd "$APP"
npm pkg delete devDependencies optionalDependencies overrides scripts 'dependencies.@types/pg'
npm sbom --sbom-format=cyclonedx --sbom-type=application --offline >sbom.cdx.json
