/** Creates an element. String children become text, never markup. `onclick` and the like become listeners. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? '' : value)
  }
  element.append(
    ...children.flat(2).filter(child => child !== null && child !== undefined && child !== false)
  )
  return element
}

export const link = (href, ...children) => el('a', { href }, ...children)
export const page = (title, ...children) => ({
  title,
  content: [el('h1', { tabindex: -1 }, title), ...children]
})

/** An empty element for error messages, next to the button that causes them. */
export const problemElement = () => el('div', { class: 'problem', role: 'alert', hidden: true })
/** Shows messages in a problem element. Hides it when there are none. */
export function showProblem(element, ...messages) {
  element.hidden = messages.length === 0
  element.replaceChildren(...messages.map(message => el('p', {}, message)))
}

/** Announces a result to screen readers. */
export function announce(text) {
  document.getElementById('announcement').textContent = text
}

/** Runs `work` with the button disabled, so that repeated clicks run it once. `work` shows its own errors. */
export async function disableWhile(button, work) {
  if (button.disabled) return
  const focused = document.activeElement
  button.disabled = true
  button.setAttribute('aria-busy', 'true')
  try {
    await work()
  } finally {
    button.disabled = false
    button.removeAttribute('aria-busy')
    // A disabled or removed button loses the focus.
    const next = focused.isConnected ? focused : document.querySelector('main h1')
    if (document.activeElement === document.body) next.focus({ preventScroll: true })
  }
}

/** Replaces an element that had the focus, and moves the focus to the first replacement. */
export function replaceAndFocus(element, first, ...others) {
  element.replaceWith(first, ...others)
  first.tabIndex = -1
  first.focus()
}

/** A picture in a square of fixed size, so that the page does not move while the picture loads. */
export const picture = (url, alt = '') =>
  el(
    'span',
    { class: 'picture' },
    url && el('img', { src: url, alt, loading: 'lazy', width: 400, height: 400 })
  )

/** Downloads a value as a JSON file. */
export function saveAsFile(value, name) {
  const file = new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' })
  const href = URL.createObjectURL(file)
  el('a', { href, download: name }).click()
  URL.revokeObjectURL(href)
}
