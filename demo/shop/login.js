import { readCart } from './carts.js'
import { el, link, page } from './dom.js'
import { emailField, field, form, passwordField } from './forms.js'
import { isLoggedIn, logIn, submitSecondFactor } from './session.js'
import { t } from './texts.js'

/** `#/log-in/…`: the login. The rest of the address is the page that is shown after it. */
export function logInPage({ parts }) {
  const next = parts.length === 0 ? ['account'] : parts
  const continueToNext = () => location.replace(`#/${next.map(encodeURIComponent).join('/')}`)
  if (!isLoggedIn()) return logInForm(continueToNext)
  continueToNext()
  return page(t.logIn.title)
}

/** The login, shown instead of a page that needs a customer. `then` shows that page. */
export const logInFirst = then => logInForm(then, el('p', {}, t.logIn.needed))

function logInForm(then, introduction) {
  const finish = async () => {
    await readCart().catch(() => {})
    await then()
  }
  return page(
    t.logIn.title,
    introduction,
    form({
      fields: [
        emailField('email', t.logIn.email),
        passwordField('password', t.logIn.password, 'current-password')
      ],
      button: t.logIn.button,
      send: async account => {
        try {
          await logIn(account)
        } catch (error) {
          if (error.code !== 'AUTH_SECOND_FACTOR_REQUIRED') throw error
          return secondFactor(error.challenge, finish)
        }
        await finish()
      }
    }),
    el('p', {}, link('#/forgot-password', t.logIn.forgotten)),
    el('p', {}, link('#/register', t.logIn.register))
  )
}

/** Administrators can have a second factor. */
const secondFactor = (challenge, finish) => [
  el('h2', {}, t.logIn.codeTitle),
  form({
    fields: [field('code', t.logIn.code, { autocomplete: 'one-time-code', required: '' })],
    button: t.logIn.confirm,
    send: async ({ code }) => {
      await submitSecondFactor({ challenge, code })
      await finish()
    }
  })
]
