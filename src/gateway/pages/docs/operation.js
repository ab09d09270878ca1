import { disclosure, el, prose } from './dom.js'
import { resolve } from './openapi.js'
import { requestView } from './request.js'
import { bytes, schemaView, typeOf } from './schema.js'

const isError = ({ status }) => status === 'default' || Number(status) >= 400

/** Creates the row of an operation. Its details are rendered when it is opened for the first time. */
export function operationRow(operation) {
  const { method, path, summary, hash } = operation
  const element = el(
    'details',
    { class: 'operation', id: operation.id },
    el(
      'summary',
      {},
      el('span', { class: `method ${method.toLowerCase()}` }, method),
      el('code', { class: 'path' }, path),
      el('span', { class: 'name' }, summary)
    )
  )
  const fill = () => {
    if (element.children.length === 1) element.append(details(operation))
  }
  element.addEventListener('toggle', () => {
    if (!element.open) return
    fill()
    // The address of an opened operation can be copied from the address bar.
    history.replaceState(null, '', hash)
  })
  const open = () => {
    element.open = true
    fill()
  }
  return { ...operation, element, open }
}

function details(operation) {
  const { form, examples } = requestView(operation)
  return el(
    'div',
    { class: 'details' },
    operation.description && prose(operation.description),
    factsOf(operation),
    el('div', { class: 'sides' }, el('div', {}, form), el('div', {}, examples, responsesView(operation)))
  )
}

function factsOf({ security, countsAs, requestsPerMinute, bodyBytesMax }) {
  const scopes = [...new Set(security.flatMap(each => Object.values(each)).flat())]
  const facts = [
    security.length === 0 && 'Needs no access token.',
    security.length > 0 && `Needs an access token${scopes.length > 0 ? ` (${scopes.join(', ')})` : ''}.`,
    countsAs && `Counts as ${countsAs} requests in the rate limits.`,
    requestsPerMinute && `At most ${requestsPerMinute} requests a minute.`,
    bodyBytesMax && `Body: at most ${bytes(bodyBytesMax)}.`
  ]
  return el(
    'ul',
    { class: 'facts' },
    facts.filter(Boolean).map(fact => el('li', {}, fact))
  )
}

function responsesView({ responses }) {
  const errors = responses.filter(isError)
  const statuses = errors.filter(({ status }) => status !== 'default').map(({ status }) => status)
  const [problem] = errors
  return [
    el('h3', {}, 'Responses'),
    responses.filter(each => !isError(each)).map(responseView),
    errors.length > 0 && [
      el('h3', {}, 'Errors'),
      el(
        'p',
        {},
        'By status: ',
        statuses.flatMap(status => [el('a', { href: `#errors/${status}` }, status), ' '])
      ),
      disclosure('Fields of an error', () => bodyView(problem))
    ]
  ]
}

const responseView = (response, index) =>
  disclosure(
    [el('strong', {}, response.status), ` ${response.description ?? ''}`],
    () => bodyView(response),
    {
      open: index === 0
    }
  )

function bodyView({ content = {}, headers = {} }) {
  const bodies = Object.entries(content).map(([type, { schema = {} }]) => [
    el('p', {}, type, ' ', el('span', { class: 'type' }, typeOf(schema))),
    schemaView(schema)
  ])
  const names = Object.entries(headers).map(([name, header]) =>
    el('li', {}, el('code', {}, name), prose(resolve(header).description ?? ''))
  )
  return el(
    'div',
    { class: 'inner' },
    bodies.length > 0 ? bodies : el('p', {}, 'No body.'),
    names.length > 0 && [el('p', {}, 'Headers'), el('ul', { class: 'fields' }, names)]
  )
}
