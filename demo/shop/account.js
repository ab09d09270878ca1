import { field } from './address.js'
import { call, wordsOf } from './api.js'
import { busy, el, link, page, problemPlace, tell } from './dom.js'
import { accessToken } from './memory.js'

/** `#/verify-email/:token`, where the link of a mail leads. */
export const verifyEmail = ({ parts: [token = ''] }) =>
  form('Your e-mail address', {
    button: 'Confirm it',
    send: () => call('POST', '/auth/verify', { body: { token } }),
    done: 'Thank you. Your e-mail address is confirmed.'
  })

/** `#/reset-password/:token`, likewise. */
export const resetPassword = ({ parts: [token = ''] }) =>
  form('A new password', {
    fields: [newPassword()],
    button: 'Set it',
    send: ({ password }) => call('POST', '/auth/reset', { body: { token, password } }),
    done: 'Your password is changed.'
  })

/** In the place of a page that only its owner sees, which `then` shows. */
export const logIn = then =>
  form('Please log in', {
    fields: [
      field('email', 'E-mail', { type: 'email', autocomplete: 'email' }),
      field('password', 'Password', { type: 'password', autocomplete: 'current-password' })
    ],
    button: 'Log in',
    send: async account => {
      const { access_token } = await call('POST', '/auth/login', { body: account })
      accessToken.set(access_token)
      await then()
    }
  })

const newPassword = () =>
  field('password', 'The new password', { type: 'password', autocomplete: 'new-password' })

/** A page with a few fields and one button. */
function form(title, { fields = [], button: words, send, done }) {
  const problem = problemPlace()
  const button = el('button', { class: 'main' }, words)
  const element = el('form', { onsubmit }, ...fields, problem, button)
  function onsubmit(event) {
    event.preventDefault()
    return busy(button, async () => {
      tell(problem)
      try {
        await send(Object.fromEntries(new FormData(element)))
        if (done !== undefined)
          element.replaceChildren(el('p', { role: 'status' }, done), link('#/', 'To the beginning'))
      } catch (error) {
        tell(problem, ...wordsOf(error))
      }
    })
  }
  return page(title, element)
}
