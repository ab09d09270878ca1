import { call } from './api.js'
import { el, link, page, saveAsFile } from './dom.js'
import { choiceField, done, emailField, form } from './forms.js'
import { t } from './texts.js'

/** `#/guest-data` sends a guest the link that exports or erases their data. `#/guest-data/:token` is that link. */
export const guestDataPage = ({ parts: [token] }) =>
  token === undefined
    ? page(t.guestData.title, el('p', {}, t.guestData.explanation), requestForm())
    : page(t.guestData.title, confirmForm(token))

const requestForm = () =>
  form({
    fields: [
      emailField('email', t.guestData.email),
      choiceField('action', t.guestData.action, t.guestData.actions)
    ],
    button: t.guestData.send,
    send: async body => {
      await call('POST', '/orders/guest/data-requests', { body })
      return done(t.guestData.sent(body.email))
    }
  })

/** The guest must press a button, because some mail programs open links to check them. */
const confirmForm = token =>
  form({
    button: t.guestData.confirm,
    send: async () => {
      const { action, orders, parts } = await call('POST', '/orders/guest/data-requests/confirm', {
        body: { token }
      })
      if (action === 'export') saveAsFile(parts, 'guest-data.json')
      const numbers = orders.map(({ number }) => number).join(', ')
      return [done(t.guestData.done[action](numbers)), link('#/', t.page.home)]
    }
  })
