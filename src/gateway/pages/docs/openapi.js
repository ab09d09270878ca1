const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']
let api

/**
 * Loads the document. Returns its title, version and description, its operations in groups, one for each tag, and the
 * descriptions of the tags.
 */
export async function loadApi() {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`/openapi.json returned status ${response.status}.`)
  api = await response.json()
  const groups = new Map()
  for (const operation of operationsOf(api)) {
    const group = groups.get(operation.tag) ?? []
    groups.set(operation.tag, [...group, operation])
  }
  const about = new Map((api.tags ?? []).map(({ name, description = '' }) => [name, description]))
  return { ...api.info, groups, about }
}

const operationsOf = ({ paths }) =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter(method => method in item).map(method => describe(path, method, item))
  )

function describe(path, method, item) {
  const operation = item[method]
  const id = operation.operationId
  const tag = operation.tags?.[0] ?? 'other'
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve)
  const names = parameters.map(parameter => parameter.name)
  const text = [method, path, id, tag, operation.summary, operation.description, ...names]
  return {
    id,
    tag,
    path,
    method: method.toUpperCase(),
    parameters,
    summary: operation.summary ?? '',
    description: operation.description,
    /** Where the operation is on this page. */
    hash: `#/${encodeURIComponent(tag)}/${id}`,
    /** What a search looks in. */
    text: text.join(' ').toLowerCase(),
    security: operation.security ?? api.security ?? [],
    body: bodyOf(resolve(operation.requestBody)),
    bodyBytesMax: operation['x-body-bytes-max'],
    countsAs: operation['x-counts-as'],
    requestsPerMinute: operation['x-requests-per-minute'],
    responses: Object.entries(operation.responses ?? {}).map(([status, response]) => ({
      status,
      ...resolve(response)
    }))
  }
}

function bodyOf(requestBody) {
  const [first] = Object.entries(requestBody?.content ?? {})
  if (first === undefined) return undefined
  const [type, { schema = {} }] = first
  return { type, schema, isRequired: requestBody.required === true, isJson: isJson(type) }
}

export const isJson = type => /^application\/([\w.-]+\+)?json\b/.test(type)

/** Returns what a reference refers to; any other part is returned as it is. */
export function resolve(part) {
  if (part?.$ref === undefined) return part
  const { $ref, ...beside } = part
  const target = $ref
    .slice('#/'.length)
    .split('/')
    .reduce((parent, key) => parent[key.replaceAll('~1', '/').replaceAll('~0', '~')], api)
  return { ...resolve(target), name: target.name ?? $ref.split('/').at(-1), ...beside }
}

/** The operation that exchanges an API key for an access token: its body holds the key alone. */
export function findKeyExchange() {
  return operationsOf(api).find(({ body }) => {
    const { properties = {} } = resolve(body?.schema) ?? {}
    return Object.keys(properties).join() === 'api_key'
  })
}
