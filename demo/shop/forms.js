import { disableWhile, el, problemElement, replaceAndFocus, showProblem } from './dom.js'
import { errorTexts, fieldErrorText } from './errors.js'
import { t } from './texts.js'

/** A field with its label and a place for its error. Its name is its path in the request body. */
export function field(name, label, attributes = {}, input = el('input', { maxlength: 255 })) {
  const id = `field-${name.replaceAll('/', '-')}`
  for (const [key, value] of Object.entries({ ...attributes, id, name, 'aria-describedby': `${id}-wrong` }))
    if (value !== undefined && value !== null) input.setAttribute(key, value)
  return el(
    'p',
    { class: 'field' },
    el('label', { for: id }, label, el('span', { class: 'soft' })),
    input,
    el('span', { class: 'wrong', id: `${id}-wrong` })
  )
}

export const emailField = (name, label, value) =>
  field(name, label, { type: 'email', autocomplete: 'email', value, required: '' })
/** A select field. `options` maps each value to its text. */
export const choiceField = (name, label, options) =>
  field(
    name,
    label,
    {},
    el(
      'select',
      {},
      Object.entries(options).map(([value, text]) => el('option', { value }, text))
    )
  )
/** `autocomplete` is `current-password` or `new-password`, for password managers. */
export const passwordField = (name, label, autocomplete) =>
  field(name, label, { type: 'password', autocomplete, maxlength: 256, required: '' })
export const checkbox = (name, label, checked) =>
  el('p', {}, el('label', { class: 'check' }, el('input', { type: 'checkbox', name, checked }), ' ', label))

/**
 * A form with one button. `send` gets the values of the fields. Its errors are shown beside the fields that the API names, or
 * above the button. Elements that it returns replace the form.
 */
export function form({ fields = [], button: label, kind = 'main', send }) {
  const problem = problemElement()
  const button = el('button', { class: kind }, label)
  const element = el('form', { novalidate: true, onsubmit }, ...fields, problem, button)
  function onsubmit(event) {
    event.preventDefault()
    return disableWhile(button, async () => {
      showProblem(problem)
      showFieldErrors(element, new Map())
      try {
        const doneMessage = await send(Object.fromEntries(new FormData(element)))
        if (doneMessage !== undefined) replaceAndFocus(element, ...[doneMessage].flat())
      } catch (error) {
        const faults = fieldErrors(error, element)
        showFieldErrors(element, faults)
        if (faults.size > 0) element.querySelector('[aria-invalid="true"]').focus()
        else showProblem(problem, ...errorTexts(error))
      }
    })
  }
  return element
}

/** Returns the error texts by field name, or an empty map when an error belongs to no field of this form. */
export function fieldErrors({ errors = [] }, element) {
  const faults = new Map()
  for (const { path, message } of errors) {
    const name = path.replace(/^body\//, '')
    if (!element.elements[name]) return new Map()
    faults.set(name, [...(faults.get(name) ?? []), fieldErrorText(message)])
  }
  return faults
}

export function showFieldErrors(element, faults) {
  for (const input of element.elements)
    if (input.closest('.field')) showFieldError(input, faults.get(input.name))
}

export function showFieldError(input, words = []) {
  input.setAttribute('aria-invalid', words.length > 0)
  input.closest('.field').querySelector('.wrong').textContent = words.join(', ')
}

/** The message that replaces a form after success. */
export const done = words => el('p', { class: 'done', role: 'status', tabindex: -1 }, words)
export const savedMessage = () => done(t.form.saved)
