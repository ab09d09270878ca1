/** An element. Texts are texts, whatever stands in them; `onclick` and the like are listeners. */
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

/** Where problems are told, next to what was tried. */
export const problemPlace = () => el('div', { class: 'problem', role: 'alert', hidden: true })
export function tell(place, ...words) {
  place.hidden = words.length === 0
  place.replaceChildren(...words.map(word => el('p', {}, word)))
}

/** Says to those who do not see the page what has happened. */
export function say(words) {
  document.getElementById('said').textContent = words
}

/** Does it once, however often the button is pressed meanwhile. `work` shows its problems itself. */
export async function busy(button, work) {
  if (button.disabled) return
  const hadFocus = document.activeElement === button
  button.disabled = true
  button.setAttribute('aria-busy', 'true')
  try {
    await work()
  } finally {
    button.disabled = false
    button.removeAttribute('aria-busy')
    if (hadFocus && document.activeElement === document.body) button.focus()
  }
}

/** A picture in a square that is there before it. */
export const picture = (url, alt = '') =>
  el(
    'span',
    { class: 'picture' },
    url && el('img', { src: url, alt, loading: 'lazy', width: 400, height: 400 })
  )
