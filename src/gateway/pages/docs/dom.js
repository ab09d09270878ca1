/** Creates an element. Children that are strings stay text; attributes that begin with "on" are listeners. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? '' : value)
  }
  element.append(
    ...children
      .flat(Number.POSITIVE_INFINITY)
      .filter(child => child !== undefined && child !== null && child !== false)
  )
  return element
}

/** Creates a paragraph of a description, in which `backticks` mark code. */
export const prose = (text, attributes = {}) =>
  el(
    'p',
    attributes,
    text.split('`').map((part, index) => (index % 2 === 0 ? part : el('code', {}, part)))
  )

/** Creates a disclosure whose content is rendered when it is opened for the first time. */
export function disclosure(summary, render, attributes = {}) {
  const details = el('details', attributes, el('summary', {}, summary))
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(el('div', {}, render()))
  }
  details.addEventListener('toggle', fill)
  fill()
  return details
}

/** Creates a code block with a button that copies it. Its text is set by `show`. */
export function codeBlock(title) {
  const code = el('code')
  const copied = el('span', { role: 'status' })
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      copied.textContent = 'Copied'
    } catch {
      // Browsers offer no clipboard to pages of other machines that are served without TLS.
      getSelection().selectAllChildren(code)
      copied.textContent = 'Selected'
    }
  }
  const button = el('button', { type: 'button', onclick: copy, 'aria-label': `Copy ${title}` }, 'Copy')
  const element = el(
    'figure',
    { class: 'code' },
    el('figcaption', {}, el('span', {}, title), copied, button),
    el('pre', {}, code)
  )
  const show = text => {
    code.textContent = text
    copied.textContent = ''
  }
  return { element, show }
}
