"""TVG: tensor-variate Gaussian noise for training, features, test features and covariances."""
