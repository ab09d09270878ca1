/**
 * Parts of `node:http`. An `import` would evaluate every getter of the module, and one of them loads `fetch`, which takes 30
 * ms of every start (Node 26.10, 2026-11).
 */
export const { createServer, request, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')
