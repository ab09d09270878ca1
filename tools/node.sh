# Sourced by the scripts of package.json: the Node that comes with the packages goes before the one of the machine.
# npm 11 links it into node_modules/.bin; npm 10, which came with Node 20, drops that link again.
PATH="$(echo "$PWD"/node_modules/node-linux-*/bin):$PATH"
export PATH
