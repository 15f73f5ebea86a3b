'use strict';

const { Router } = require('express');

/** Routes for logging in and out. */
function loginRoutes(accounts) {
  const router = Router();

  router.get('/login', (req, res) => {
    res.render('login', { failed: req.query.failed === '1', next: req.query.next ?? '/' });
  });

  router.post('/login', async (req, res) => {
    const account = await accounts.check(req.body.email, req.body.password);
    if (account === null) {
      res.redirect('/login?failed=1');
      return;
    }
    req.session.account = account.id;
    res.redirect(req.body.next || '/');
  });

  router.post('/logout', (req, res) => {
    req.session.destroy(() => res.redirect('/login'));
  });

  return router;
}

module.exports = { loginRoutes };
