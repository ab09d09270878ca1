/** Writes a request as a curl command for `sh`. The access token is read from the variable TOKEN. */
export function curlOf({ method, url, headers, needsToken, body, fileName }) {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...(needsToken ? ['-H "authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`--data-binary ${fileName === undefined ? quoted(body) : `@${quoted(fileName)}`}`])
  ]
  return lines.join(' \\\n  ')
}
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`

/** Writes a request as TypeScript that runs in Node and, without a file, in a browser. */
export function typeScriptOf({ method, url, headers, needsToken, body, fileName, responseKind }) {
  const members = [
    ...(needsToken ? [`authorization: \`Bearer \${token}\``] : []),
    ...Object.entries(headers).map(([name, value]) => `${literal(name)}: ${literal(value)}`)
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(members.length > 0 ? [`headers: {\n${indented(members.join(',\n'))}\n}`] : []),
    ...(body === undefined ? [] : [`body: ${bodyIn(body, fileName)}`])
  ]
  const given = options.length > 0 ? `, {\n${indented(options.join(',\n'))}\n}` : ''
  return [
    ...(fileName === undefined ? [] : ["import { readFile } from 'node:fs/promises'\n"]),
    ...(needsToken ? ["const token = '<access token>'"] : []),
    `const response = await fetch(${literal(url)}${given})`,
    'if (!response.ok) throw new Error(await response.text())',
    ENDS[responseKind]
  ].join('\n')
}

/** Shows a response, by the kind of its content. */
const ENDS = {
  json: 'console.log(await response.json())',
  text: 'console.log(await response.text())',
  nothing: 'console.log(response.status)'
}
const indented = text => text.replace(/^/gm, '  ')

/** Keys that are no names of variables, and all values, are strings in quotes. */
const literal = text => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function bodyIn(body, fileName) {
  if (fileName !== undefined) return `await readFile(${literal(fileName)})`
  try {
    return `JSON.stringify(${JSON.stringify(JSON.parse(body), null, 2)})`
  } catch {
    return literal(body.replaceAll('\n', ' '))
  }
}
