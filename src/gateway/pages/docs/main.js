import { openCredentials } from './credentials.js'
import { el, prose } from './dom.js'
import { errorList } from './errors.js'
import { loadApi } from './openapi.js'
import { operationRow } from './operation.js'

const search = document.getElementById('search')
const found = document.getElementById('found')
const errors = errorList()
/** Groups of operations with their elements, in the order of the document. */
let groups = []

async function start() {
  const api = await loadApi()
  document.title = `${api.title} API`
  document.getElementById('title').textContent = `${api.title} API ${api.version}`
  document.getElementById('about').replaceWith(prose(api.description ?? ''))
  groups = [...api.groups].map(([tag, operations]) => createGroup(tag, operations, api.about.get(tag) ?? ''))
  document
    .getElementById('groups')
    .append(...groups.map(group => group.link), el('li', {}, el('a', { href: '#errors' }, 'Errors by code')))
  document.getElementById('operations').append(...groups.map(group => group.section), errors.element)
  showMatches()
  await showPlace()
}

function createGroup(tag, operations, about) {
  const rows = operations.map(operationRow)
  const title = tag[0].toUpperCase() + tag.slice(1)
  const href = `#/${encodeURIComponent(tag)}`
  const heading = el('h2', { tabindex: -1 }, title)
  return {
    rows,
    heading,
    hash: href,
    link: el('li', {}, el('a', { href }, title)),
    section: el(
      'section',
      {},
      heading,
      about === '' ? [] : prose(about),
      rows.map(row => row.element)
    )
  }
}

/** Shows the operations that have every word of the search. */
function showMatches() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  let shown = 0
  for (const { rows, link, section } of groups) {
    let isEmpty = true
    for (const { text, element } of rows) {
      element.hidden = !words.every(word => text.includes(word))
      if (element.hidden) continue
      shown += 1
      isEmpty = false
    }
    section.hidden = isEmpty
    link.hidden = isEmpty
  }
  const all = groups.flatMap(group => group.rows).length
  found.textContent = words.length === 0 ? `${all} operations` : `${shown} of ${all} operations`
}

/** Goes where the address leads: to a group, an operation, or an error. */
async function showPlace() {
  const { hash } = location
  if (/^#errors\b/.test(hash)) {
    errors.element.open = true
    await errors.load()
  }
  const row = groups.flatMap(group => group.rows).find(each => each.hash === hash)
  const heading = groups.find(group => group.hash === hash)?.heading
  const target = row?.element ?? heading ?? document.getElementById(hash.slice(1))
  if (target === null) return
  if (target.closest('[hidden]') !== null) {
    search.value = ''
    showMatches()
  }
  row?.open()
  target.scrollIntoView()
  const summary = target.querySelector(':scope > summary')
  ;(summary ?? target).focus({ preventScroll: true })
}

function focusSearch(event) {
  const isTyping = event.target.closest('input, textarea, select') !== null
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  search.focus()
}

search.addEventListener('input', showMatches)
document.getElementById('authorize').addEventListener('click', openCredentials)
addEventListener('hashchange', showPlace)
addEventListener('keydown', focusSearch)
try {
  await start()
} catch (error) {
  found.textContent = `The API document cannot be shown. ${error.message}`
  throw error
}
