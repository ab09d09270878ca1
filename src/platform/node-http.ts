/**
 * Node's HTTP. Named so, and not by `import`, which looks at all that the module has, and so also loads the fetch that a
 * getter of it stands for: 30 ms of every start (Node 26.10, 2026-11).
 */
export const { createServer, request, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')
