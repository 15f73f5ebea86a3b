// The least a Probot App can do with a delivery: let Probot verify and read it, and acknowledge. It stores nothing.
export default (app) => {
  app.on("pull_request_review_comment.created", async () => {});
};
