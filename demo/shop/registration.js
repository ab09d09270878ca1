import { call } from './api.js'
import { readCart } from './carts.js'
import { el, link, page } from './dom.js'
import { done, emailField, field, form, passwordField } from './forms.js'
import { isLoggedIn, register } from './session.js'
import { language, t } from './texts.js'

/** `#/register/:invitation`. The field for an invitation code is shown when the shop requires one. */
export function registrationPage({ parts: [code] }) {
  if (isLoggedIn()) location.replace('#/account')
  const invitation = el(
    'div',
    { hidden: code === undefined },
    field('invitation', t.registration.invitation, { value: code })
  )
  return page(
    t.registration.title,
    form({
      fields: [
        field('name', t.registration.name, { autocomplete: 'name' }),
        emailField('email', t.registration.email),
        passwordField('password', t.registration.password, 'new-password'),
        el('p', { class: 'soft' }, t.registration.passwordHint),
        invitation
      ],
      button: t.registration.button,
      send: async values => {
        const filled = Object.entries(values).filter(([, text]) => text !== '')
        const account = { email: '', password: '', locale: language, ...Object.fromEntries(filled) }
        const isIn = await register(account).catch(error => {
          if (error.code === 'AUTH_INVITATION_REQUIRED') invitation.hidden = false
          throw error
        })
        if (!isIn) return done(t.registration.sent(account.email))
        await readCart().catch(() => {})
        location.replace('#/account')
      }
    }),
    el('p', {}, link('#/log-in', t.registration.haveAccount))
  )
}

/** `#/verify-email/:token`: the target of the verification link in a mail. */
export const verificationPage = ({ parts: [token = ''] }) =>
  page(
    t.verification.title,
    form({
      button: t.verification.button,
      send: async () => {
        await call('POST', '/auth/verify', { body: { token } })
        return [done(t.verification.done), link('#/', t.page.home)]
      }
    })
  )

/** `#/forgot-password` */
export const forgottenPasswordPage = () =>
  page(
    t.password.forgotten,
    el('p', {}, t.password.explanation),
    form({
      fields: [emailField('email', t.logIn.email)],
      button: t.password.send,
      send: async ({ email }) => {
        await call('POST', '/auth/forgot', { body: { email } })
        return done(t.password.sent(email))
      }
    })
  )

/** `#/reset-password/:token`: the target of the reset link in a mail. */
export const newPasswordPage = ({ parts: [token = ''] }) =>
  page(
    t.password.title,
    form({
      fields: [passwordField('password', t.password.new, 'new-password')],
      button: t.password.button,
      send: async ({ password }) => {
        await call('POST', '/auth/reset', { body: { token, password } })
        return [done(t.password.done), link('#/log-in', t.logIn.title)]
      }
    })
  )
