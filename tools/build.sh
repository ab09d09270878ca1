# What goes into the package: JavaScript with its types, because Node strips no types below node_modules, and beside it
# the migrations. The folder lies where src/ does, so that paths from there to docs/ and demo/ hold in both. That the
# types are right, "npm run check" has seen; looking again would take twice as long.
set -e
rm -rf dist
# Several threads work out many types more than once.
tsc -p tsconfig.build.json --singleThreaded
for folder in $(cd src && find . -name migrations -o -path "*/pages/docs"); do cp -R "src/$folder" "dist/$folder"; done
