import { el, prose } from './dom.js'

/** The guide to errors, which a test keeps equal to the code. */
const GUIDE = '/guides/errors.md'
const ROW = /^\| `(\w+)` \| (\d+) \| (.*) \| (.*) \|$/gm

/** Creates the list of all error codes by status. `load` fills it, once. */
export function errorList() {
  const content = el('div', {}, el('p', {}, 'Loading …'))
  const element = el('details', { id: 'errors' }, el('summary', {}, 'Errors by code'), content)
  let loading
  const load = () => {
    loading ??= readGuide().then(
      rows => content.replaceChildren(...sections(rows)),
      error => content.replaceChildren(el('p', { role: 'alert' }, error.message))
    )
    return loading
  }
  element.addEventListener('toggle', () => element.open && load())
  return { element, load }
}

async function readGuide() {
  const response = await fetch(GUIDE)
  if (!response.ok) throw new Error(`${GUIDE} returned status ${response.status}.`)
  return [...(await response.text()).matchAll(ROW)]
}

const sections = rows =>
  [...Map.groupBy(rows, ([, , status]) => status)].sort().flatMap(([status, all]) => [
    el('h3', { id: `errors/${status}`, tabindex: -1 }, status),
    el(
      'dl',
      {},
      all.map(([, code, , meaning, advice]) =>
        el(
          'div',
          { id: `errors/${code}`, tabindex: -1 },
          el('dt', {}, el('code', {}, code)),
          el('dd', {}, prose(meaning), prose(advice))
        )
      )
    )
  ])
