import { accessToken, openCredentials, useToken } from './credentials.js'
import { codeBlock, disclosure, el, prose } from './dom.js'
import { curlOf, typeScriptOf } from './examples.js'
import { isJson } from './openapi.js'
import { sampleOf } from './sample.js'
import { fieldHead, limitsOf, schemaView, typeOf, variantsOf } from './schema.js'

/** Longer responses are cut, because a browser takes seconds to lay them out. */
const SHOWN_LENGTH_MAX = 200_000
const ROWS_MAX = 24

/** Creates the form of a request, which shows the response, and the examples that follow what is filled in. */
export function requestView(operation) {
  const parameters = operation.parameters.map(parameter => parameterField(operation, parameter))
  const body = operation.body && bodyField(operation)
  const curl = codeBlock('curl')
  const typeScript = codeBlock('TypeScript')
  const status = el('p', { role: 'status' })
  const response = el('div', { class: 'response' })
  let isSending = false
  const read = () => requestOf(operation, parameters, body)
  const update = () => {
    curl.show(curlOf(read()))
    typeScript.show(typeScriptOf(read()))
  }
  const submit = async event => {
    event.preventDefault()
    if (isSending) return
    isSending = true
    status.textContent = 'Sending …'
    response.replaceChildren()
    const { outcome, content } = await send(read(), body?.file())
    status.textContent = outcome
    response.replaceChildren(content)
    isSending = false
  }
  const button = el('button', { class: 'main' }, 'Send request')
  const form = el(
    'form',
    { oninput: update, onchange: update, onsubmit: submit },
    parameters.length > 0 && el('h3', {}, 'Parameters'),
    parameters.map(({ element }) => element),
    body?.element,
    el('p', { class: 'buttons' }, button, operation.security.length > 0 && needsToken()),
    ...[status, response]
  )
  update()
  return {
    form: [form, operation.body?.isJson && [el('h3', {}, 'Body fields'), schemaView(operation.body.schema)]],
    examples: [el('h3', {}, 'Examples'), curl.element, typeScript.element]
  }
}

const needsToken = () => el('button', { type: 'button', onclick: openCredentials }, 'Set the access token')

function parameterField(operation, { name, in: place, schema = {}, required, description }) {
  const id = `${operation.id}-${place}-${name}`
  const { variants } = variantsOf(schema)
  const [variant = {}] = variants
  const options = variant.type === 'boolean' ? [true, false] : variant.enum
  const control = options
    ? el(
        'select',
        { id, required },
        el('option', { value: '' }, ''),
        options.map(value => el('option', {}, String(value)))
      )
    : el('input', {
        id,
        required,
        autocomplete: 'off',
        spellcheck: 'false',
        ...(variant.type === 'integer' && { type: 'number', min: variant.minimum, max: variant.maximum }),
        maxlength: variant.maxLength
      })
  const limits = limitsOf(schema).flatMap(limit => [' · ', limit])
  const head = fieldHead(name, schema, required)
  head.append(el('span', { class: 'limits' }, ` · in ${place}`, limits))
  const text = description ?? variant.description
  const element = el(
    'div',
    { class: 'parameter' },
    el('label', { for: id }, head),
    text && prose(text),
    control
  )
  const value = () => control.value.trim()
  if (variant.type !== 'object') return { name, place, element, value }
  control.placeholder = '{"key": "value"}'
  control.addEventListener('input', () => control.setCustomValidity(problemOf(value())))
  return { name, place, element, value, membersOf: parseObject }
}

function bodyField(operation) {
  const { schema, type, isJson, isRequired } = operation.body
  const title = el('h3', {}, 'Body', el('span', { class: 'type' }, ` ${type}, ${typeOf(schema)}`))
  const optional = !isRequired && el('p', {}, 'The body may be left out.')
  const { elements, ...input } = isJson ? jsonInput(operation) : fileInput(operation)
  return { ...input, element: el('div', {}, title, optional, elements) }
}

function fileInput({ id }) {
  const input = el('input', { id: `${id}-file`, type: 'file' })
  return {
    elements: [el('label', { for: input.id }, 'File to send'), input],
    text: () => '',
    file: () => input.files[0],
    fileName: () => input.files[0]?.name ?? 'file.csv'
  }
}

function jsonInput({ id, body }) {
  const area = el('textarea', { id: `${id}-body`, spellcheck: 'false', autocomplete: 'off' })
  const fill = isFull => {
    area.value = JSON.stringify(sampleOf(body.schema, isFull), null, 2)
    area.rows = Math.min(area.value.split('\n').length + 1, ROWS_MAX)
    area.dispatchEvent(new Event('input', { bubbles: true }))
  }
  area.addEventListener('input', () => area.setCustomValidity(problemOf(area.value)))
  fill(false)
  const choose = (text, isFull) => el('button', { type: 'button', onclick: () => fill(isFull) }, text)
  return {
    elements: [
      el('label', { for: area.id }, 'Request body'),
      area,
      el('p', { class: 'buttons' }, choose('Required fields', false), choose('All fields', true))
    ],
    text: () => area.value.trim(),
    file: () => undefined,
    fileName: () => undefined
  }
}

/** Returns the members of a parameter that is sent as `name[key]=value`; none while its text is no JSON. */
const parseObject = text => (problemOf(text) === '' ? Object(JSON.parse(text)) : {})

function problemOf(text) {
  if (text.trim() === '') return ''
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return `This is not JSON: ${error.message}`
  }
}

/** The request as it is filled in. A part of the path that is missing is written as `<name>`. */
function requestOf(operation, parameters, body) {
  const filled = place => parameters.filter(each => each.place === place && each.value() !== '')
  const values = new Map(filled('path').map(({ name, value }) => [name, encodeURIComponent(value())]))
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name) => values.get(name) ?? `<${name}>`)
  const query = new URLSearchParams(
    filled('query').flatMap(({ name, value, membersOf }) =>
      membersOf === undefined
        ? [[name, value()]]
        : Object.entries(membersOf(value())).map(([key, each]) => [`${name}[${key}]`, each])
    )
  )
  const text = body?.text()
  const fileName = body?.fileName()
  const hasBody = fileName !== undefined || (text !== undefined && text !== '')
  const types = operation.responses
    .filter(({ status }) => status.startsWith('2'))
    .flatMap(({ content = {} }) => Object.keys(content))
  return {
    method: operation.method,
    url: `${location.origin}${path}${query.size > 0 ? `?${query}` : ''}`,
    headers: {
      ...Object.fromEntries(filled('header').map(({ name, value }) => [name, value()])),
      ...(hasBody && { 'content-type': operation.body.type })
    },
    needsToken: operation.security.length > 0,
    body: hasBody ? (text ?? '') : undefined,
    fileName,
    responseKind: types.some(isJson) ? 'json' : types.length > 0 ? 'text' : 'nothing'
  }
}

/** Sends a request. Returns its outcome in words, and the elements that show the response. */
async function send({ method, url, headers, needsToken, body }, file) {
  try {
    const token = needsToken ? await accessToken() : undefined
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const began = performance.now()
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...authorization },
      body: file ?? body
    })
    const text = await response.text()
    const milliseconds = Math.round(performance.now() - began)
    return {
      outcome: `${response.status} ${response.statusText} in ${milliseconds} ms`,
      content: responseView(response, text)
    }
  } catch (error) {
    return { outcome: `The request failed: ${error.message}`, content: '' }
  }
}

function responseView(response, text) {
  const type = response.headers.get('content-type') ?? ''
  const content = isJson(type) && text !== '' ? JSON.parse(text) : undefined
  const all = content === undefined ? text : JSON.stringify(content, null, 2)
  const shown = all.length > SHOWN_LENGTH_MAX ? `${all.slice(0, SHOWN_LENGTH_MAX)}\n…` : all
  return el(
    'div',
    { role: 'group', 'aria-label': 'Response' },
    content?.code && el('p', {}, 'What to do: ', el('a', { href: `#errors/${content.code}` }, content.code)),
    typeof content?.access_token === 'string' && useTokenButton(content.access_token),
    disclosure('Headers', () =>
      el('pre', {}, [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'))
    ),
    shown !== '' &&
      el('pre', { class: 'content', tabindex: 0, role: 'region', 'aria-label': 'Response body' }, shown)
  )
}

function useTokenButton(token) {
  const button = el('button', { type: 'button' }, 'Use this access token')
  button.addEventListener('click', () => {
    useToken(token)
    button.textContent = 'This access token is used now'
  })
  return el('p', {}, button)
}
