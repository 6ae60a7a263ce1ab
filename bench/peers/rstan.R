# Gradients per second of Stan's sampler on one core: leapfrog steps over the time that sampling took, by the processor's
# clock, with models and data as in bench/rows/bayes.ts. Started by bench/peers/stan.py:
#
#     Rscript bench/peers/rstan.R schools|regime samples
#     Rscript bench/peers/rstan.R program samples model.stan data.R
#
# prints one figure per line, "gradients 481234". `Rscript bench/peers/rstan.R version` prints what is installed.

suppressMessages(library(rstan))
# Debian's BH is an empty package that stands for the system's Boost, which rstan does not find by itself.
if (rstan_options("boost_lib") == "") rstan_options(boost_lib = "/usr/include")

models <- list(
  schools = "
    data { int J; vector[J] y; vector[J] s; }
    parameters { real mu; real<lower=0> tau; vector[J] z; }
    model {
      mu ~ normal(0, 5);
      tau ~ cauchy(0, 5);
      z ~ normal(0, 1);
      y ~ normal(mu + tau * z, s);
    }",
  regime = "
    data { int T; vector[T] y; vector[T] previous; }
    parameters {
      real mu_trend; real mu_mr; real logit_w1; real logit_w2;
      real<lower=0> sigma_trend; real<lower=0> sigma_mr; real<lower=0> sigma_vol; real<lower=0> theta_mr;
    }
    model {
      vector[3] weights = log_softmax([0, logit_w1, logit_w2]');
      real keep = exp(-theta_mr);
      mu_trend ~ normal(0, 0.02);
      mu_mr ~ normal(0, 0.02);
      logit_w1 ~ normal(0, 1);
      logit_w2 ~ normal(0, 1);
      sigma_trend ~ cauchy(0, 0.02);
      sigma_mr ~ cauchy(0, 0.02);
      sigma_vol ~ cauchy(0, 0.02);
      theta_mr ~ cauchy(0, 0.5);
      for (t in 1:T) {
        real terms[3] = {
          weights[1] + normal_lpdf(y[t] | 0, sigma_vol),
          weights[2] + normal_lpdf(y[t] | mu_trend, sigma_trend),
          weights[3] + normal_lpdf(y[t] | mu_mr + keep * (previous[t] - mu_mr), sigma_mr)
        };
        target += log_sum_exp(terms);
      }
    }"
)

# The same numbers as bench/bayes-models.ts makes; products stay below 2^53, so they are exact.
unit_numbers <- function(state) {
  function() {
    state <<- (state * 48271) %% 2147483647
    state / 2147483647
  }
}

returns <- function() {
  unit <- unit_numbers(7)
  choice <- unit_numbers(6)
  all <- 0
  for (t in 0:199) {
    radius <- sqrt(-2 * log(unit()))
    z <- radius * cos(2 * pi * unit())
    before <- all[t + 1]
    u <- choice()
    reverting <- 0.025 + 0.82 * (before - 0.025) + 0.0063 * z
    all <- c(all, if (u < 0.28) 0.045 * z else if (u < 0.81) 0.009 + 0.0075 * z else reverting)
  }
  list(T = 200L, y = all[-1], previous = all[-201])
}

data <- list(
  schools = function() list(J = 8L, y = c(28, 8, -3, 7, -1, 1, 18, 12), s = c(15, 10, 16, 11, 9, 11, 10, 18)),
  regime = returns
)
# Long enough to be told by the clock.
draws <- list(schools = 20000, regime = 500)

arguments <- commandArgs(trailingOnly = TRUE)
name <- arguments[1]
if (name == "version") {
  cat(as.character(packageVersion("rstan")), "\n")
  quit()
}
if (name == "program") {
  code <- paste(readLines(arguments[3]), collapse = "\n")
  values <- eval(parse(arguments[4]))
  # Starts that every program's parameters allow, and few draws: some take a minute for a thousand.
  options <- list(warmup = 200, iter = 400, init = 0.5)
} else {
  code <- models[[name]]
  values <- data[[name]]()
  options <- list(warmup = 500, iter = 500 + draws[[name]])
}
compiled <- suppressMessages(stan_model(model_code = code))
for (seed in seq_len(as.integer(arguments[2]))) {
  given <- c(list(compiled, data = values, chains = 1, seed = seed, refresh = 0), options)
  fit <- suppressWarnings(do.call(sampling, given))
  steps <- sum(get_sampler_params(fit, inc_warmup = TRUE)[[1]][, "n_leapfrog__"])
  cat("gradients", steps / sum(get_elapsed_time(fit)), "\n")
}
