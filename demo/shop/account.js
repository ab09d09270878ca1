import { announce, disableWhile, el, link, page, problemElement, saveAsFile, showProblem } from './dom.js'
import { errorTexts } from './errors.js'
import { checkbox, done, emailField, field, form, passwordField, savedMessage } from './forms.js'
import { callAsCustomer, forgetSession, logOut } from './session.js'
import { formatTime, t } from './texts.js'

/** `#/account`: profile, e-mail address, password, devices and data of the customer. */
export async function accountPage({ reload }) {
  const [me, sessions] = await Promise.all([
    callAsCustomer('GET', '/auth/me'),
    callAsCustomer('GET', '/auth/sessions?limit=100')
  ])
  return page(
    t.account.title,
    !me.email_verified && verification(),
    el('p', {}, link('#/orders', t.orders.title), ' · ', link('#/account/addresses', t.addresses.title)),
    section(t.account.profile, profileForm(me)),
    section(t.account.email, el('p', {}, me.email), emailForm()),
    section(t.account.password, passwordForm()),
    section(
      t.account.sessions,
      el(
        'ul',
        { class: 'rows' },
        sessions.items.map(each => device(each, reload))
      )
    ),
    section(
      t.account.data,
      el('p', {}, action(t.account.download, download)),
      el('p', {}, link('#/account/delete', t.account.remove))
    )
  )
}

const section = (title, ...children) => el('section', {}, el('h2', {}, title), ...children)

/** A button with a problem element for its errors. */
function action(label, work, attributes = {}) {
  const problem = problemElement()
  const button = el(
    'button',
    {
      ...attributes,
      onclick: () => {
        showProblem(problem)
        return disableWhile(button, () => work().catch(error => showProblem(problem, ...errorTexts(error))))
      }
    },
    label
  )
  return [button, problem]
}

function verification() {
  const place = el('div', { class: 'finding' }, el('p', {}, t.verification.missing))
  const send = async () => {
    await callAsCustomer('POST', '/auth/verification')
    place.replaceChildren(done(t.verification.sent))
  }
  place.append(...action(t.verification.again, send))
  return place
}

const profileForm = ({ name, phone, marketing_consent }) =>
  form({
    fields: [
      field('name', t.account.name, { autocomplete: 'name', value: name }),
      field('phone', t.account.phone, { type: 'tel', autocomplete: 'tel', value: phone }),
      checkbox('marketing_consent', t.account.marketing, marketing_consent)
    ],
    button: t.form.save,
    send: async values => {
      const body = {
        name: orNull(values.name),
        phone: orNull(values.phone),
        marketing_consent: values.marketing_consent === 'on'
      }
      await callAsCustomer('PATCH', '/auth/me', { body })
      return savedMessage()
    }
  })
const orNull = text => (text.trim() === '' ? null : text.trim())

const emailForm = () =>
  form({
    fields: [
      emailField('email', t.account.newEmail),
      passwordField('password', t.account.present, 'current-password')
    ],
    button: t.account.changeEmail,
    kind: '',
    send: async body => {
      await callAsCustomer('POST', '/auth/email', { body })
      return done(t.account.emailSent(body.email))
    }
  })

const passwordForm = () =>
  form({
    fields: [
      passwordField('current_password', t.account.present, 'current-password'),
      passwordField('new_password', t.account.newPassword, 'new-password')
    ],
    button: t.account.changePassword,
    kind: '',
    send: async body => {
      await callAsCustomer('POST', '/auth/password', { body })
      return done(t.account.passwordChanged)
    }
  })

function device({ id, user_agent, last_used_at, current }, reload) {
  const name = current ? t.account.thisDevice : (user_agent ?? t.account.otherDevice)
  const leave = async () => {
    await logOut()
    announce(t.account.loggedOut)
    location.replace('#/')
  }
  const end = async () => {
    await callAsCustomer('DELETE', `/auth/sessions/${id}`)
    announce(t.account.sessionEnded)
    await reload()
  }
  return el(
    'li',
    {},
    el('span', {}, name, ' ', el('span', { class: 'soft' }, t.account.lastUsed(formatTime(last_used_at)))),
    el(
      'span',
      {},
      current
        ? action(t.account.logOut, leave)
        : action(t.account.endSession, end, { 'aria-label': t.account.endSessionOf(name) })
    )
  )
}

/** Downloads the personal data of the customer as a file. */
async function download() {
  const everything = await callAsCustomer('GET', '/auth/me/export')
  saveAsFile(everything, 'account.json')
}

/** `#/account/delete` */
export async function deletionPage() {
  await callAsCustomer('GET', '/auth/me')
  return page(
    t.deletion.title,
    el('p', {}, t.deletion.explanation),
    form({
      fields: [passwordField('password', t.deletion.password, 'current-password')],
      button: t.deletion.button,
      send: async body => {
        await callAsCustomer('POST', '/auth/me/delete', { body })
        forgetSession()
        return [done(t.deletion.done), link('#/', t.page.home)]
      }
    }),
    el('p', {}, link('#/account', t.form.cancel))
  )
}
