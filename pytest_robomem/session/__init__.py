"""What happens between pytest and an episode: collection, workers, reports, the controller."""
